"""One-line wordings of events, by subject. `wording.events` combines them."""
