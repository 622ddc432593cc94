"""Statements that lie in a folder, as a bank's or a program's nightly download leaves them there."""

from kontor.connectors.files.connector import FilesConnector

__all__ = ["FilesConnector"]
