"""A command line and its configuration files in, a SweepSpec out.

Only :mod:`sweep.config.load` imports Hydra; what it loads is imported on first use, so that help stays quick.
"""

from sweep.config.files import available as available
