#!/usr/bin/env python3
"""Counts what a run of Swift Testing did, from its event stream (JSON, one event a line).

    tally.py EVENTS STATUS [ALLOWED-SKIP...]

Prints `PASSED FAILED` on stdout and what failed, or was skipped, with what was said of it, on stderr. A test that began and did not end (a crash, a time limit), one
that was planned and never began, and one that was skipped without being allowed to count as failed: nothing drops out silently. Cases of a
parameterised test count one by one.
"""

import json
import sys


def read(path):
    """Yields the records; a last line that a crash cut off is passed over."""
    try:
        with open(path, "rb") as stream:
            for line in stream:
                try:
                    yield json.loads(line)
                except ValueError:
                    pass
    except FileNotFoundError:
        return


def is_failure(event):
    issue = event.get("issue", {})
    return not issue.get("isKnown", False) and issue.get("severity", "error") == "error"


def shortened(text):
    """Both ends: the finding is at one of them."""
    return text if len(text) <= 3000 else f"{text[:1500]}\n[...]\n{text[-1500:]}"


def main():
    events, status, allowed = sys.argv[1], int(sys.argv[2]), set(sys.argv[3:])
    planned, began, ended, skipped = {}, set(), set(), set()
    cases, failed_cases, issues, words = {}, {}, [], {}
    for record in read(events):
        payload = record.get("payload", {})
        if record.get("kind") == "test":
            if payload.get("kind") == "function":
                planned[payload["id"]] = payload.get("displayName") or payload["name"]
            continue
        kind, test = payload.get("kind"), payload.get("testID")
        case = payload.get("_testCase", {}).get("id")
        if kind == "testStarted":
            began.add(test)
        elif kind == "testEnded":
            ended.add(test)
        elif kind == "testSkipped":
            skipped.add(test)
        elif kind == "testCaseStarted":
            cases[test] = cases.get(test, 0) + 1
        elif kind == "issueRecorded" and is_failure(payload):
            issues.append(test)
            text = " ".join(message.get("text", "") for message in payload.get("messages", []))
            words.setdefault(test, []).append(shortened(text))
            failed_cases.setdefault(test, set()).add(case)

    passed = failed = 0
    for test, name in planned.items():
        count = max(1, cases.get(test, 1))
        if test in skipped:
            if name in allowed:
                print(f"skipped, as allowed: {name}", file=sys.stderr)
                continue
            bad, why = 1, "was skipped"
        elif test not in began:
            bad, why = 1, "never began"
        elif test not in ended:
            bad, why = max(1, len(failed_cases.get(test, ()))), "did not end"
        else:
            bad, why = min(count, len(failed_cases.get(test, ()))), "failed"
        if bad:
            print(f"{why}: {name} ({test})", file=sys.stderr)
            for text in words.get(test, [])[:5]:
                print(f"    {text}", file=sys.stderr)
        passed += count - bad
        failed += bad
    # Issues outside any test, and a run that failed in a way no test shows.
    stray = sum(1 for test in issues if test not in planned)
    for text in [text for test in words if test not in planned for text in words[test]][:5]:
        print(f"outside any test: {text}", file=sys.stderr)
    if status != 0 and failed == 0 and stray == 0:
        print(f"the test program ended with status {status} though no test failed", file=sys.stderr)
        stray = 1
    print(passed, failed + stray)


main()
