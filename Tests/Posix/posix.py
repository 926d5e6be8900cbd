# Runs the POSIX suite in a directory: posix.py DIRECTORY [PART-OF-A-NAME...] prints one JSON object for each case.

import sys

import open_cases
import name_cases
import owner_cases
import data_cases
import suite

suite.run(sys.argv[1], sys.argv[2:])
