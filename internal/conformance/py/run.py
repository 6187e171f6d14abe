"""Runs the steps of one service in order, against the account of the connection string in ACCOUNT, and writes one line of
JSON for each: its name, and the error if it failed. Uses Debian's package python3-azure-storage.

Usage: run.py tables|queues|blobs, or run.py metadata write|read NAME
"""
import json
import os
import sys
import time
import traceback

ACCOUNT = os.environ["ACCOUNT"]
UNIQUE = "py" + format(time.time_ns(), "x")
STEPS = []


def step(name):
    def add(run):
        STEPS.append((name, run))
        return run
    return add


def refused(status, code, call, *args, **options):
    """expects an error of the service"""
    from azure.core.exceptions import HttpResponseError
    try:
        call(*args, **options)
    except HttpResponseError as e:
        got = getattr(e, "error_code", None)  # azure-data-tables does not set it on every error
        got = getattr(got, "value", got) or (code if code in str(e) else None)
        assert (e.status_code, got) == (status, code), (e.status_code, got, str(e))
        return
    raise AssertionError("was not refused with %d %s" % (status, code))


if __name__ == "__main__":
    sys.modules["run"] = sys.modules["__main__"]
    program = __import__(sys.argv[1])
    if sys.argv[1] == "metadata":
        getattr(program, sys.argv[2])(sys.argv[3])
    for name, run in STEPS:
        error = ""
        try:
            run()
        except Exception:
            error = traceback.format_exc()
        print(json.dumps({"Name": name, "Error": error}), flush=True)
