"""What leaves the gym: the export of a policy, the endpoint programs, the Pantheon wrapper."""
