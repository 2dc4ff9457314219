"""Where claims meet measurement: profiles, sessions, budgets, looks, confirmation, prospects, hunting, interrupts.

ahead         Several claims of a session in work at once, so that the looks of one leave no worker idle
certificates  What is proved of an instance for every size, where it has a certificate and the profile allows the time
check         The one module where claims meet measurement: budgets, looks, routes, confirmation
hunting       Searching a claim's structure for a counterexample, within a budget of time
interrupts    Ctrl-C and SIGTERM: an interruption is one KeyboardInterrupt, however often it comes, and none tears what is being
              written
measurement   All that is measured at one instance of a claim: exact values, and draws allotted anew at every look from what was
              seen
pilots        What is to be found out before samplers can be made, such as annealing schedules: by all workers, once where
              claims share it
profiles      Profiles: how much may be spent on a claim and with which error rates, immutable and by name
prospects     What the budget of a profile can see of a claim, before it is spent: for ``theoryck plan``, and for what is said at
              collection
session       A session: what all claims of one run share, the error rate they divide, their instances, and what a run reports of
              itself
"""
