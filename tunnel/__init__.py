"""The tunnel: a private path over one UDP flow between two network namespaces, every packet of it logged.

C++: the program `ccgym-tunnel`. Python: sessions of it.
"""
