"""Statement files understood without a server and without a database: `kontor analyse`."""

from kontor.cli.file_analyses.figures import FileAnalysis, analyse
from kontor.cli.file_analyses.page import Words, find_yearly, sum_yearly, write_page
from kontor.cli.file_analyses.reading import read_files
from kontor.cli.file_analyses.rows import WRITERS

__all__ = ["WRITERS", "FileAnalysis", "Words", "analyse", "find_yearly", "read_files", "sum_yearly", "write_page"]
