"""The demonstration: the whole site on one machine, with tenants, people and data like a customer's."""
