"""The command line, parsed: a verb, its positionals and options; everything else is an override for Hydra.

The first word without ``=`` that does not start with ``-``, ``+`` or ``~`` is the verb; without one it is
``run``.  All verbs stand in one table, from which ``--help`` is written too.
"""

from sweep.arguments.help import help_text, usage
from sweep.arguments.parsing import Command, parse
from sweep.arguments.verbs import VERBS

__all__ = ["VERBS", "Command", "help_text", "parse", "usage"]
