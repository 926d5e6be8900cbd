# Runs the POSIX suite in a directory: posix.py DIRECTORY [PART-OF-A-NAME...] prints one JSON object for each case.
# posix.py --list prints the names of all cases; docs/posix.md cites them.

import sys

import open_cases
import name_cases
import owner_cases
import data_cases
import suite

if sys.argv[1] == "--list":
    print("\n".join(suite.CASES))
else:
    suite.run(sys.argv[1], sys.argv[2:])
