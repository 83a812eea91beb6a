"""The budget of API calls: 720 general and 180 device calls an hour per token, shared by priority."""
