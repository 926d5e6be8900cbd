// A program that takes part in coordination as tests tell it to.

import FileCoordination
