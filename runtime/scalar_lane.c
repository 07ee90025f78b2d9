/* scalar_lane.c: the lane of functions that need no framework: numbers in, a number out. */

static bool scalar_enter(const char **problem) {
  (void)problem;
  return true;
}

static Outcome scalar_prepare(Plan *plan, Mode mode, Reason *reason) {
  return take_call_args(plan, mode, reason) ? OUTCOME_OK : OUTCOME_REFUSED;
}

static void scalar_body(const Plan *plan) { (void)plan; }

static Lane scalar_lane = {.name = "none",
                           .plugin = "tensorc",
                           .enter = scalar_enter,
                           .prepare = scalar_prepare,
                           .body_enter = scalar_body,
                           .body_leave = scalar_body};
