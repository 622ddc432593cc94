"""What pages for people have in common: what a browser sends and keeps, texts in two languages, assets."""
