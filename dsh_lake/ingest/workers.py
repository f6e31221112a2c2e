"""Spread the reading of files over processes.

The workers are fresh interpreters that run this module and speak pickles over their pipes. They do not
run the caller's main module again, so a script or a notebook needs no ``if __name__ == "__main__"``, and
nothing that the caller has loaded (an engine's threads) is forked.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any, Protocol

from dsh_lake.errors import DshLakeError
from dsh_lake.ingest.files import FileTask
from dsh_lake.ingest.source import Output, SourceRun

OnRead = Callable[[int], None]
_Worker = subprocess.Popen[bytes]

_SMALL_BYTES = 12 << 20
"""Less than this (on disk) is read sooner here than by workers that have yet to start."""
_SHARES = 12
"""Portions per worker: small enough that no worker is left with a large one at the end."""


@dataclass(frozen=True, slots=True)
class PartTarget:
    """Where part files go, what their names begin with, and whether they may hold free text."""

    tables: Path
    prefix: str
    with_content: bool


class Mapper(Protocol):
    """How files are read: given tasks and where part files go, the outputs of all of them.

    ``on_read`` is told the size of each file (bytes on disk) as it is done.
    """

    def __call__(self, tasks: Sequence[FileTask], target: PartTarget, on_read: OnRead) -> list[Output]: ...


class WorkerFailed(DshLakeError):
    """A worker process ended before it had answered."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """What a worker answers when it cannot go on."""

    reason: str


def serial(tasks: Sequence[FileTask], target: PartTarget, on_read: OnRead) -> list[Output]:
    """Read the files here, one after another."""
    run = _start(target)
    with _rare_collections():
        for task in tasks:
            run.read(task)
            on_read(task.size_bytes)
        return [run.finish()]


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Rows are many small tuples without cycles: looking for some among them after every few hundred is
    work for nothing."""
    before = gc.get_threshold()
    gc.set_threshold(1_000_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _start(target: PartTarget) -> SourceRun:
    return SourceRun(target.tables, target.prefix, with_content=target.with_content)


def processes(jobs: int) -> Mapper:
    """A mapper over ``jobs`` processes, this one among them; what is too little is read here alone."""

    def map_tasks(tasks: Sequence[FileTask], target: PartTarget, on_read: OnRead) -> list[Output]:
        total = sum(task.size_bytes for task in tasks)
        count = min(jobs, len(tasks))
        if count < 2 or total < _SMALL_BYTES or not sys.executable:
            return serial(tasks, target, on_read)
        portions: SimpleQueue[list[FileTask]] = SimpleQueue()
        for portion in _portions(tasks, total // (count * _SHARES) + 1):
            portions.put(portion)
        here, *there = (replace(target, prefix=f"{target.prefix}-{number}") for number in range(count))
        workers: list[_Worker] = []
        with ThreadPoolExecutor(len(there)) as pool:
            runs = [pool.submit(_drive, portions, each, on_read, workers) for each in there]
            try:
                return [_read_here(portions, here, on_read), *(run.result() for run in runs)]
            except BaseException:
                # Whatever ended it here, nobody else need go on.
                while _next(portions) is not None:
                    pass
                for worker in workers:
                    worker.kill()
                raise

    return map_tasks


def _portions(tasks: Sequence[FileTask], size: int) -> Iterator[list[FileTask]]:
    """Runs of about ``size`` bytes, the largest files first."""
    portion: list[FileTask] = []
    held = 0
    for task in sorted(tasks, key=lambda task: -task.size_bytes):
        portion.append(task)
        held += task.size_bytes
        if held >= size:
            yield portion
            portion, held = [], 0
    if portion:
        yield portion


def _read_here(portions: SimpleQueue[list[FileTask]], target: PartTarget, on_read: OnRead) -> Output:
    """Take part in the reading: this process has all it needs loaded and nothing else to do."""
    run = _start(target)
    with _rare_collections():
        while (portion := _next(portions)) is not None:
            for task in portion:
                run.read(task)
            on_read(sum(task.size_bytes for task in portion))
        return run.finish()


def _drive(
    portions: SimpleQueue[list[FileTask]], target: PartTarget, on_read: OnRead, workers: list[_Worker]
) -> Output:
    """Feed one worker until nothing is left to read; it is put among ``workers``."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", "dsh_lake.ingest.workers"]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    workers.append(worker)
    try:
        with worker:
            return _converse(worker, portions, target, on_read)
    except BrokenPipeError as error:
        raise WorkerFailed(f"a worker process ended with status {worker.returncode}") from error


def _converse(
    worker: _Worker, portions: SimpleQueue[list[FileTask]], target: PartTarget, on_read: OnRead
) -> Output:
    try:
        _send(worker.stdin, target)
        while (portion := _next(portions)) is not None:
            _send(worker.stdin, portion)
            on_read(_receive(worker))
        _send(worker.stdin, None)
        output: Output = _receive(worker)
        return output
    except BaseException:
        worker.kill()
        raise


def _next(portions: SimpleQueue[list[FileTask]]) -> list[FileTask] | None:
    try:
        return portions.get_nowait()
    except Empty:
        return None


def _send(pipe: IO[bytes] | None, message: Any) -> None:
    assert pipe is not None
    pickle.dump(message, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def _receive(worker: _Worker) -> Any:
    assert worker.stdout is not None
    try:
        answer = pickle.load(worker.stdout)
    except (EOFError, pickle.UnpicklingError) as error:
        worker.wait()
        raise WorkerFailed(f"a worker process ended with status {worker.returncode}") from error
    if isinstance(answer, _Failure):
        raise WorkerFailed(f"a worker process failed: {answer.reason}")
    return answer


def _work(requests: SimpleQueue[Any], answers: IO[bytes]) -> None:
    """A worker's life: where to write, then portions, each answered by its size; None ends it."""
    os.umask(0o077)
    run = _start(requests.get())
    while (portion := requests.get()) is not None:
        for task in portion:
            run.read(task)
        _send(answers, sum(task.size_bytes for task in portion))
    _send(answers, run.finish())


def _listen(requests: SimpleQueue[Any]) -> None:
    """Take requests from stdin. Once nobody is there any more to make them, such as after a kill, this
    process ends at once, whatever it is doing: there is no one left to whom its files are of use."""
    # Not sys.stdin, which the interpreter wants to itself when it ends.
    try:
        with open(0, "rb", closefd=False) as pipe:
            while True:
                requests.put(pickle.load(pipe))
    finally:
        os._exit(130)


def _main() -> int:
    requests: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    try:
        with _rare_collections():
            _work(requests, sys.stdout.buffer)
    except BrokenPipeError:
        return 130
    except (OSError, DshLakeError) as error:
        _send(sys.stdout.buffer, _Failure(str(error)))
    except KeyboardInterrupt:
        # Interrupted together with the process that reads our answers.
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(_main())
