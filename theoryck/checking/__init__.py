"""Where claims meet measurement: profiles, sessions, budgets, looks, confirmation, prospects, hunting, interrupts.

budget       How many blocks of every size are drawn until a look: what a budget pays for, allotted anew from what was seen, or
             fixed
check        The one module where claims meet measurement: budgets, looks, routes, confirmation
drawing      The draws of one instance: whole blocks at every size, the moments they come to, and the store that they may be
             found in
hunting      Searching a claim's structure for a counterexample, within a budget of time
interrupts   Ctrl-C and SIGTERM: an interruption is one KeyboardInterrupt, however often it comes, and none tears what is being
             written
known        What is known of a claim's instances before anything is drawn: predictions and exact values, worked out where draws
             run
measurement  All that is measured at one instance of a claim: exact values, and draws allotted anew at every look from what was
             seen
profiles     Profiles: how much may be spent on a claim and with which error rates, immutable and by name
prospects    What the budget of a profile can see of a claim, before it is spent: for ``theoryck plan``, and for what is said at
             collection
repeat       How a result is had again: the command that measures a claim with the same seed, error rates and, where it matters,
             draws
session      A session: what all claims of one run share, the error rate they divide, their instances, and what a run reports of
             itself
"""
