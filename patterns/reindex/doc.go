package reindex
