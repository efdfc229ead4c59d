"""A worker in Python: qless work thumbs --persistent --concurrency 8 -- python3 examples/work.py"""

import json
import os
import sys
import time


def work(data):
    time.sleep(data.get("seconds", 0))
    if data.get("fail"):
        return {"result": "fail", "group": "picture", "message": "the file is broken"}
    if data.get("retry"):
        return {"result": "retry", "delay": "1s"}
    return {"result": "complete", "data": {**data, "by": "python"}}


answers = os.fdopen(int(os.environ["QLESS_RESULT_FD"]), "w")
for line in sys.stdin:
    job = json.loads(line)
    # A job that is cancelled while it runs is ended by SIGTERM: qless starts this program again.
    if not job.get("cancel"):
        answers.write(json.dumps({"jid": job["jid"], **work(job["data"])}) + "\n")
        answers.flush()
