"""Flows: jobs that stay deployed while records stream through them.

    flow = weir.Flow("word_count")
    words = flow.input("words", "i64")
    words.count(keys=1, state="job").output("counts")
    flow.run_sequentially({"words": [(0, [7, 8, 7])]})["counts"][0]  # words [7, 8], counts [2, 1]

Records have columns, one NumPy array each for many of them, a weight (how many times a record is
there) and a time: an epoch, and a trip for each loop around.
"""

from weir.flow.columns import Records
from weir.flow.flow import Flow
from weir.flow.job import Job
from weir.flow.loop import Feedback, Loop
from weir.flow.open_stream import Delayed
from weir.flow.service import Service
from weir.flow.stream import Stream

__all__ = ("Delayed Feedback Flow Job Loop Records Service Stream").split()
