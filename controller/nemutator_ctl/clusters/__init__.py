"""`nemutator clusters`: all clusters on one database, and what they have together."""
