"""What aiter's own files decide: layouts, merged configs, instance tables, dispatch rules.

Pure: files in, facts with their file and line out; nothing of aiter is imported or run.
"""
