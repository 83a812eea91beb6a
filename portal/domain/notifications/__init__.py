"""Messages to people and web addresses, each sent once; mails to accounts; who is notified of alerts."""
