"""A process that answers requests, dies and is started again."""

import os
import signal
import threading
import time

import pytest

from gate.system.worker_process import WorkerDied, WorkerProcess

SERVER = """
import os, sys
from gate.system.worker_process import serve

def prepare(given):
    folder = given.decode()
    def answer(request):
        print("noise")  # is no reply
        if request == "pid":
            return os.getpid()
        if request == "fail":
            raise KeyError("what was asked")
        if request == "die":
            os._exit(7)
        if request == "die once":
            try:
                os.mkdir(os.path.join(folder, "died"))
            except FileExistsError:
                return "alive"
            os.kill(os.getpid(), 9)
        if request == "sleep":
            import time; time.sleep(60)
        return [request, folder]
    return answer

def main():
    serve(prepare)
"""


@pytest.fixture
def worker(tmp_path, monkeypatch):
    (tmp_path / "served_by_a_test.py").write_text(SERVER)
    monkeypatch.syspath_prepend(str(tmp_path))
    process = WorkerProcess("served_by_a_test", str(tmp_path).encode())
    yield process
    process.close()


def test_plain_values_go_in_and_come_out(worker, tmp_path):
    request = {"a": [1, 2.5, None, True], "b": b"\x00" * 3_000_000, "c": ("x", "\u00e9")}
    assert worker.work(request) == [request, str(tmp_path)]
    assert worker.work("pid") == worker.work("pid") != os.getpid()


def test_what_dies_is_started_again_and_asked_again(worker):
    before = worker.work("pid")
    assert worker.work("die once") == "alive"
    assert worker.work("pid") != before


def test_what_dies_each_time_is_told(worker):
    with pytest.raises(WorkerDied, match="exit status 7"):
        worker.work("die")
    assert worker.work("x")[0] == "x"


def test_a_process_that_others_kill_is_started_again(worker):
    os.kill(worker.work("pid"), signal.SIGKILL)
    assert worker.work("x")[0] == "x"


def test_an_error_of_the_code_is_told_with_its_place(worker):
    with pytest.raises(RuntimeError, match="what was asked"):
        worker.work("fail")
    assert worker.work("x")[0] == "x"


def test_closing_ends_what_is_under_way(worker):
    worker.work("pid")
    errors = []

    def ask():
        try:
            worker.work("sleep")
        except WorkerDied as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.2)
    begun = time.monotonic()
    worker.close()
    thread.join(10)
    assert time.monotonic() - begun < 5
    assert len(errors) == 1


def test_modules_of_the_working_folder_stand_in_for_none(worker, tmp_path, monkeypatch):
    (tmp_path / "cwd").mkdir()
    (tmp_path / "cwd" / "json.py").write_text("raise SystemExit('shadowed')")
    monkeypatch.chdir(tmp_path / "cwd")
    assert worker.work("x")[0] == "x"
