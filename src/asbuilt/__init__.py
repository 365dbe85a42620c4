"""asbuilt takes a software plan from an idea to landed code, and proves that it is done."""
