"""Lists the tests that ran, but said SKIPPED: `skipped_tests.py JUNIT_XML`, one line a test with its reason.

To the runner such a test has passed. Its output is in nextest's report, so a test needs to do nothing but say it.
"""

import sys
import xml.etree.ElementTree as xml


def skipped(report):
    for case in xml.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            continue
        for output in case.iter():
            reason = next((line for line in (output.text or "").splitlines() if "SKIPPED: " in line), None)
            if output.tag in ("system-out", "system-err") and reason:
                yield f"{case.get('classname')} {case.get('name')}: {reason.split('SKIPPED: ', 1)[1]}"
                break


for found in skipped(sys.argv[1]):
    print(found)
