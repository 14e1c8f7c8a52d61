import type { Command } from 'commander';
import { bashScript } from './bash.js';
import { fishScript } from './fish.js';
import { completionModel } from './model.js';
import { powershellScript } from './powershell.js';
import { zshScript } from './zsh.js';

/** The script that makes `shell` complete the program's commands and options. */
export function completionScript(shell: 'bash' | 'zsh' | 'fish' | 'powershell', program: Command): string {
  const model = completionModel(program);
  switch (shell) {
    case 'bash':
      return bashScript(model);
    case 'zsh':
      return zshScript(model);
    case 'fish':
      return fishScript(model);
    case 'powershell':
      return powershellScript(model);
  }
}
