"""Who decides: the controllers in C++, and the LSTM policy with its file."""
