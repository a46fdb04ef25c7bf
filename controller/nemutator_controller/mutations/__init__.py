"""What can be changed in an object, one verb a file, and how a change is written down."""
