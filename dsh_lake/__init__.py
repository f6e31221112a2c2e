"""dsh-lake: what DeepSeek Harness agents did, what it cost, what broke, what drifted."""
