"""The mathematics under study: activations, deep networks and the strategies that generate them."""
