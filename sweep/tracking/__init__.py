"""The MLflow mirror: a syncer process fed from the ledger; the only importer of MLflow.

The ledger is the truth.  The mirror is one experiment, one parent run per sweep folder and one child run
per cell; it can be rebuilt from the ledger and is never read back.  :mod:`sweep.tracking.process` starts
the syncer and imports no MLflow itself.
"""
