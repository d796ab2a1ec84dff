"""What the harder rules stand on: questions about all casts of a loadout, answered without listing them."""
