"""WHERE and WHEN runs execute: planned, kept in a folder, run in shards, collected into the ledger.

Ray and the engine are imported only when something runs.
"""
