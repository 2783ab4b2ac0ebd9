"""Congestion controllers: those in C++, and trained policies with their files."""
