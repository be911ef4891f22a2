/** Why a long proof is skipped: the reporter counts these instead of printing each. */
export const leftOut = "a long proof, which runs with CI_FULL=1"
