import { type Commands, lazy } from "./command.ts"

export const completions = (commands: () => Commands): Commands[string] =>
  lazy(
    "Print completions, for example: berth completions bash > ~/.bash_completion.d/berth",
    async () => (await import("./completions-command.ts")).completionsOf(commands)
  )
