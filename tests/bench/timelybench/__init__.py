"""What tests/bench/timely measures."""
