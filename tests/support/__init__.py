"""What tests share: servers, stored runs, reports, the command line. No test lies here."""
