"""Sessions: where programs run.

A session is a connection to a coordinator, or a whole cluster inside this process. Calls use the
innermost session that was entered with `with`, else the last one that `connect` made, else one that
is made now.
"""

import atexit
import collections
import operator
import os
import threading
import warnings
import weakref

from weir import _native, errors, location
from weir.flow import job as flow_job, service

DEFAULT_WORKERS = 2

_lock = threading.Lock()
_default = None
_open = weakref.WeakSet()  # all sessions
_local = threading.local()


class Session:
    """A connection to a cluster; a context manager. Usable from any thread.

    Attributes:
      address: HOST:PORT of the coordinator, or None for a cluster in this process.
      memory_budget: bytes that runs may take on each worker, or None.
    """

    def __init__(self, address, workers, memory_budget=None):
        self.address = address
        self.memory_budget = memory_budget
        self._workers = workers
        self._jobs = weakref.WeakSet()  # flows that this session is attached to
        self._variables = weakref.WeakSet()  # whose values are on the cluster
        self._forgotten = collections.deque()  # ids there of variables that are gone
        if address is None:
            count = workers or DEFAULT_WORKERS
            self._native = _native.start_embedded(workers=count, threads_per_worker=1)
        else:
            self._native = _native.connect(address)
        _open.add(self)

    def run(self, program, inputs, variables=()):
        """Runs a compiled trace. Returns: a list of NumPy arrays.

        Args:
          variables: the ids here of those that the program uses, in its order.
        """
        if self._forgotten:
            self._delete_forgotten()
        return self._native.run(
            program, inputs, self._workers or 0, self.memory_budget or 0, variables
        )

    def run_with_report(self, program, inputs, variables=()):
        """The same. Returns: (list of NumPy arrays, report with counts by operation and by step,
        whose to_dict() is a dictionary).
        """
        return self._native.run_with_report(
            program, inputs, self._workers or 0, self.memory_budget or 0, variables
        )

    def variables(self):
        """Returns: one dictionary for each variable whose value is on the cluster."""
        self._delete_forgotten()
        return self._native.variables()

    def _hold(self, variable, value):
        """Brings the value of a `Variable` to the cluster. Returns: its id there."""
        self._delete_forgotten()
        number = self._native.create_variable(variable.name, value)
        self._variables.add(variable)
        return number

    def _give_back(self, variable, number):
        """Returns: the value of a variable, which the cluster forgets."""
        value = self._native.read_variable(number)
        self._native.delete_variable(number)
        self._variables.discard(variable)
        return value

    def _delete_forgotten(self):
        while self._forgotten:
            try:
                number = self._forgotten.popleft()
                self._native.delete_variable(number)
            except (errors.NotFound, IndexError):
                pass  # with a coordinator that has ended, or by another thread
            except errors.FailedPrecondition:
                self._forgotten.append(number)  # a run that was given up is not over yet
                return

    def _close_variables(self):
        lost = []
        for variable in list(self._variables):
            try:
                variable._bring_home()
            except errors.Error as error:
                variable._lose(error)
                lost.append(f"{variable.name}: {error}")
        try:
            self._delete_forgotten()
        except errors.Error:
            pass  # nobody is there who holds them
        if lost:
            warnings.warn(
                f"values of variables could not be brought back: {'; '.join(lost)}",
                RuntimeWarning,
                stacklevel=3,
            )

    def explain(self, program):
        """Returns: (stages, fallbacks, notes) of the compiler, without running anything."""
        return self._native.explain(program)

    def deploy(self, flow):
        """Deploys a `weir.Flow` on the cluster and waits until it runs.

        Returns: a `weir.flow.Job`, which feeds its inputs and takes what comes out.

        Raises: InvalidArgument with the line for a flow that does not fit together.
        """
        return self.attach(self._deploy(flow))

    def serve(self, flow, input_name=None, output_name=None):
        """Deploys a `weir.Flow` that answers calls of one record each (automatic batching).

        Args:
          input_name, output_name: where calls go in and answers come out; by default the only ones.

        Returns: a `weir.flow.Service`, which is called like a function.
        """
        ends = []
        for name, known, what in (
            (input_name, flow.inputs, "inputs"),
            (output_name, flow.outputs, "outputs"),
        ):
            if name is None and len(known) != 1:
                raise errors.InvalidArgument(
                    f"flow '{flow.name}' has the {what} {', '.join(known) or '(none)'}; say which"
                    f" one serves calls ({location.text()})"
                )
            ends.append(next(iter(known)) if name is None else name)
        return service.Service(self._native, self._deploy(flow), flow, *ends)

    def _deploy(self, flow):
        place = "%s:%d" % location.of_caller()
        return self._native.deploy(flow.text(), place, self._workers or 0)

    def attach(self, job_id, inputs=None, outputs=None):
        """Attaches to a flow that is deployed, by the id of its job.

        Args:
          inputs, outputs: names of those to feed and to take; by default all.

        Returns: a `weir.flow.Job`. Outputs continue behind what was taken last.

        Raises: NotFound; FailedPrecondition if another client is attached to it.
        """
        job = flow_job.Job(self._native.attach(job_id, inputs, outputs))
        self._jobs.add(job)
        return job

    def workers(self):
        """Returns: one dictionary for each worker of the cluster."""
        return self._native.workers()

    def close(self):
        """Ends the session, and the cluster if it is in this process. Values of variables come back
        before. Later calls raise FailedPrecondition.

        Warns: RuntimeWarning with the names of variables whose values do not come back, as their
          cluster is gone; whoever asks for their values gets the reason as an exception.
        """
        global _default
        with _lock:
            if _default is self:
                _default = None
        for job in list(self._jobs):
            job.detach()
        self._close_variables()
        self._native.close()

    def __enter__(self):
        _entered().append(self)
        return self

    def __exit__(self, *exception):
        _entered().remove(self)
        self.close()

    def __repr__(self):
        return f"weir.Session({self.address or 'in this process'})"


def _entered():
    try:
        return _local.sessions
    except AttributeError:
        _local.sessions = []
        return _local.sessions


def connect(address=None, workers=None, memory_budget=None):
    """Opens a session, which is the default one from now on.

    Args:
      address: HOST:PORT of a coordinator. By default the environment variable WEIR_ADDRESS, and
        where there is none a cluster inside this process.
      workers: how many workers a program may use; for a cluster in this process how many it has (2
        by default).
      memory_budget: bytes that a run may take on each worker for what it computes on the way,
        inputs and results not counted: an integer or a text such as "512MiB". Fewer iterations run
        at once then; the results are the same. By default what the workers were started with.

    Returns: the session. As a context manager it is the one that calls use, and is closed at the
    end.

    Raises: Unavailable if nobody answers; ValueError for workers below 1, or for a budget that is
    no size. A run raises ResourceExhausted where one iteration needs more than the budget.
    """
    global _default
    if workers is not None and operator.index(workers) < 1:
        raise ValueError(f"a session needs a worker at least, found workers={workers}")
    address = address or os.environ.get("WEIR_ADDRESS") or None
    session = Session(address, workers, _bytes_of(memory_budget))
    with _lock:
        _default = session
    return session


def _bytes_of(memory_budget):
    if memory_budget is None:
        return None
    try:
        if isinstance(memory_budget, str):
            return _native.parse_byte_size(memory_budget)
        if operator.index(memory_budget) >= 1:
            return operator.index(memory_budget)
    except (errors.InvalidArgument, TypeError):
        pass
    raise ValueError(
        f"memory_budget must be a number of bytes or a text such as '512MiB', found"
        f" {memory_budget!r}"
    )


def current():
    """Returns: the session that calls use now; opens one if there is none."""
    entered = _entered()
    if entered:
        return entered[-1]
    with _lock:
        if _default is not None:
            return _default
    return connect()


@atexit.register
def _close_all():
    for session in list(_open):
        session.close()
