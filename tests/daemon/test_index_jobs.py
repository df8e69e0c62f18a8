"""Jobs run in processes of their own, one at a time, and end with their owner."""

from __future__ import annotations

import threading

import pytest

from triseek.daemon.index_jobs import IndexJobs
from triseek.errors import BackendFailure


def test_a_job_that_succeeds_leaves_the_next_one_room():
    jobs = IndexJobs()
    for _ in range(2):
        jobs.run("--version")

    assert not jobs.busy


def test_the_last_line_of_a_job_that_fails_is_reported(home):
    with pytest.raises(BackendFailure, match=r"`triseek --no-such-flag` ended with 2: .*such-flag"):
        IndexJobs().run("--no-such-flag")


def test_a_root_that_is_gone_is_not_built(tmp_path):
    with pytest.raises(BackendFailure, match="the folder is gone"):
        IndexJobs().run("build", str(tmp_path / "gone"))


def test_nothing_is_started_after_the_end(repo):
    jobs = IndexJobs()
    jobs.close()

    with pytest.raises(BackendFailure, match="the daemon is stopping"):
        jobs.run("build", str(repo({})))


def test_the_end_ends_the_running_job(monkeypatch, repo, tmp_path):
    program = tmp_path / "slow"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(program))
    jobs, errors = IndexJobs(), []

    def run() -> None:
        try:
            jobs.run("build", str(repo({})))
        except BackendFailure as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    while jobs._child is None:
        thread.join(0.01)
    assert jobs.busy
    jobs.close()
    thread.join(30)

    assert errors == ["`triseek build` ended with -15: "]


def test_kernels_are_loaded_once_they_are_compiled():
    jobs = IndexJobs()
    jobs.warm_up()

    assert jobs.warm.is_set()
