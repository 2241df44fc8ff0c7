"""Figures as plotly objects, for notebooks and for the report: pure functions of a comparison.

>>> from analysis import compare, figures
>>> from analysis.shape import curves
>>> comparison = compare("sweeps/arm-1a2b3c4d")
>>> figures.response(comparison, curves(comparison, "latency")[0], "tracking_error_rms").show()

Every figure has a title and, below it, a caption with n and outcomes.
"""

from analysis.figures.cells import boxes as boxes
from analysis.figures.cells import parallel as parallel
from analysis.figures.cells import scatter as scatter
from analysis.figures.curves import heat_map as heat_map
from analysis.figures.curves import multiples as multiples
from analysis.figures.curves import response as response
from analysis.figures.effects import interaction as interaction
from analysis.figures.effects import main_effects as main_effects
from analysis.figures.effects import shares as shares
from analysis.figures.outcomes import outcomes as outcomes
from analysis.figures.outcomes import success_map as success_map
from analysis.figures.pairs import Pairs as Pairs
from analysis.figures.pairs import differences as differences
from analysis.figures.pairs import paired as paired
from analysis.figures.pairs import pairs_of as pairs_of
from analysis.figures.pairs import values_of as values_of
from analysis.figures.signals import Panel as Panel
from analysis.figures.signals import signals as signals
from analysis.figures.style import template as template
from analysis.figures.survival import running as running
