"""A command line and its configuration files in, a SweepSpec out.

Only :mod:`sweep.config.load` and :mod:`sweep.config.grammar` import Hydra, and nothing imports those before they are
needed, so that help stays quick.
"""

from sweep.config.files import available as available
