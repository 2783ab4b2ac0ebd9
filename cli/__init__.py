"""The command `ccgym`: one module per sub-command."""
