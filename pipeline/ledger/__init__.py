"""From event tables to the ledger: SELECT files, their order, their laws, and read-only queries."""
