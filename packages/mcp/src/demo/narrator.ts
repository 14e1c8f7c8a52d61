/** Where the demo speaks: `process.stdout` is one. */
export interface DemoOutput {
  write(text: string): unknown;
  /** Colour only where this is true. */
  readonly isTTY?: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], cyan: [36, 39] } as const;

function wantsColour(out: DemoOutput, env: Environment): boolean {
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb' && out.isTTY === true;
}

/** Tells the demo's story: numbered steps, what is done, what came back, what was checked. */
export class Narrator {
  readonly #out: DemoOutput;
  readonly coloured: boolean;
  #steps = 0;

  constructor(out: DemoOutput, env: Environment) {
    this.#out = out;
    this.coloured = wantsColour(out, env);
  }

  #paint(style: keyof typeof codes, text: string): string {
    const [on, off] = codes[style];
    return this.coloured ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  }

  #line(text = ''): void {
    this.#out.write(`${text}\n`);
  }

  title(text: string, explanation: string): void {
    this.#line(this.#paint('bold', text));
    this.#line(explanation);
  }

  step(title: string, explanation: string): void {
    this.#steps += 1;
    this.#line();
    this.#line(this.#paint('bold', `${this.#steps}. ${title}`));
    for (const line of explanation.split('\n')) this.#line(`   ${line}`);
  }

  /** A command as a person would type it. */
  command(where: string | null, command: string): void {
    const prompt = where === null ? '$' : `${where} $`;
    this.#line(`   ${this.#paint('cyan', prompt)} ${command}`);
  }

  /** A tool call as an agent makes it. */
  call(machine: string, agent: string, tool: string, args: object): void {
    const speaker = this.#paint('cyan', `${agent} on ${machine} ▸`);
    this.#line(`   ${speaker} ${this.#paint('bold', tool)} ${JSON.stringify(args)}`);
  }

  /** What came back, behind a bar. */
  answer(text: string, options: { keepColour?: boolean } = {}): void {
    for (const line of text.split('\n')) {
      const shown = options.keepColour === true ? line : this.#paint('dim', line);
      this.#line(`   ${this.#paint('dim', '│')} ${shown}`);
    }
  }

  /** Something that was asserted, and held. */
  checked(text: string): void {
    this.#line(`   ${this.#paint('green', '✓')} ${text}`);
  }

  failed(text: string): void {
    this.#line();
    this.#line(`${this.#paint('red', '✗')} ${text}`);
  }

  ended(text: string): void {
    this.#line();
    this.#line(`${this.#paint('green', '✓')} ${text}`);
  }
}
