"""Searches for patterns end, whatever the pattern and the text; and find what `re` finds."""

import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from gate.errors import GraderFailure
from gate.user_code.patterns import Search, search, weigh
from gate.user_code.processes import PROCESSES
