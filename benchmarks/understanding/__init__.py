"""What tags and analyses cost: the tagger beside a textbook pipeline, analyses as data grows, and two endpoints.

The endpoints here are measured against their limit alone, by `./dev bench --tagging` and `./dev bench --analyses`.
"""
