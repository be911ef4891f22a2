/** Ends the name of a long proof that is left out: the reporter counts these instead of printing each. */
export const leftOut = " (with CI_FULL=1)"
