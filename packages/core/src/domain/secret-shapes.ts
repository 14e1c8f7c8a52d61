/**
 * Credentials that can be told by their shape. A pattern is a fixed beginning and runs of bounded length, with no
 * quantifier on a group that has one inside: what one position can cost is bounded, so a text's cost grows with its
 * length and with nothing else. `secret-shapes.test.ts` holds the patterns to that.
 */

export interface SecretShape {
  /** Names the rule towards users: `github-token`. */
  readonly rule: string;
  /** In lower case: a text without any of these breaks no rule, and its pattern need not even be compiled. */
  readonly hints: readonly string[];
  /** Its group `body` is what a placeholder would fill with `xxxx`. */
  readonly pattern: RegExp;
}

/** Where a token may begin: behind no word, or behind a line break that was escaped once more. */
const begin = String.raw`(?:(?<![\w-])|(?<=\\[nrt]))`;

/** `hints` are separated by spaces. */
const anywhere = (rule: string, hints: string, source: string, flags = ''): SecretShape => ({
  rule,
  hints: hints.split(' '),
  pattern: new RegExp(source, flags),
});
/** A body of one length ends where its word does; of one that may be longer than it says, the beginning is enough. */
const token = (rule: string, hints: string, head: string, body: string): SecretShape =>
  anywhere(rule, hints, `${begin}${head}(?<body>${body})${/,\d+\}$/.test(body) ? '' : '(?![A-Za-z0-9])'}`);

export const secretShapes: readonly SecretShape[] = [
  token('github-token', 'ghp_ gho_ ghu_ ghs_ ghr_', 'gh[oprsu]_', '[A-Za-z0-9]{36,255}'),
  token('github-token', 'github_pat_', 'github_pat_', '[A-Za-z0-9_]{40,255}'),
  token(
    'gitlab-token',
    'glpat- gloas- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- glsoat- glffct-',
    'gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct)-',
    '[A-Za-z0-9_.-]{20,300}',
  ),
  token('aws-access-key', 'akia asia abia acca', 'A(?:KIA|SIA|BIA|CCA)', '[A-Z2-7]{16}'),
  anywhere(
    'aws-secret-key',
    'access_key accesskey aws_secret awssecret',
    String.raw`(?:secret_?access_?key|aws_?secret_?key|aws_?secret)["'\\]{0,2}\s{0,3}[:=]\s{0,3}["'\\]{0,2}(?<body>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])`,
    'i',
  ),
  token('google-api-key', 'aiza', 'AIza', '[A-Za-z0-9_-]{35}'),
  token('google-oauth-secret', 'gocspx-', 'GOCSPX-', '[A-Za-z0-9_-]{28}'),
  token('google-oauth-token', 'ya29.', String.raw`ya29\.`, '[A-Za-z0-9_-]{30,400}'),
  token('slack-token', 'xox', 'xox[abeoprs]-', '[0-9]{1,14}-[A-Za-z0-9-]{10,250}'),
  token('slack-token', 'xapp-', 'xapp-', '[0-9]-[A-Z0-9]{8,14}-[0-9]{8,14}-[a-f0-9]{32,128}'),
  anywhere(
    'slack-webhook',
    'hooks.slack.com/',
    String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]{6,14}/[A-Z0-9]{6,14}/(?<body>[A-Za-z0-9]{20,40})`,
  ),
  anywhere(
    'discord-webhook',
    '/api/webhooks/',
    String.raw`discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/(?<body>[\w-]{60,80})`,
  ),
  token('stripe-key', 'k_live_ k_test_', '[rs]k_(?:live|test)_', '[A-Za-z0-9]{16,250}'),
  token('webhook-secret', 'whsec_', 'whsec_', '[A-Za-z0-9+/]{32,64}={0,2}'),
  token('npm-token', 'npm_', 'npm_', '[A-Za-z0-9]{36}'),
  token('pypi-token', 'pypi-age', 'pypi-AgE', '[A-Za-z0-9_-]{50,400}'),
  token('rubygems-key', 'rubygems_', 'rubygems_', '[a-f0-9]{48}'),
  token('anthropic-key', 'sk-ant-', 'sk-ant-', '[A-Za-z0-9_-]{24,255}'),
  token(
    'openai-key',
    'sk-proj- sk-svcacct- sk-admin- sk-or-v1-',
    'sk-(?:proj|svcacct|admin|or-v1)-',
    '[A-Za-z0-9_-]{20,255}',
  ),
  token('openai-key', 'sk-', 'sk-', '[A-Za-z0-9]{32,64}'),
  token('huggingface-token', 'hf_', 'hf_', '[A-Za-z0-9]{34,40}'),
  token('groq-key', 'gsk_', 'gsk_', '[A-Za-z0-9]{52}'),
  token('xai-key', 'xai-', 'xai-', '[A-Za-z0-9]{80}'),
  token('sendgrid-key', 'sg.', String.raw`SG\.`, String.raw`[\w-]{22}\.[\w-]{43}`),
  token('shopify-token', 'shpat_ shpca_ shppa_ shpss_', 'shp(?:at|ca|pa|ss)_', '[a-fA-F0-9]{32}'),
  token('digitalocean-token', '_v1_', 'do[opr]_v1_', '[a-f0-9]{64}'),
  token('vault-token', 'hvs. hvb. hvr.', String.raw`hv[sbr]\.`, '[A-Za-z0-9_-]{24,300}'),
  token('databricks-token', 'dapi', 'dapi', '[a-f0-9]{32}'),
  token('docker-token', 'dckr_', 'dckr_[a-z]{3}_', '[A-Za-z0-9_-]{27,40}'),
  token('linear-key', 'lin_api_', 'lin_api_', '[A-Za-z0-9]{40}'),
  token('atlassian-token', 'atatt3 atbb', 'AT(?:ATT3|BB)', '[A-Za-z0-9_=-]{28,300}'),
  token('grafana-token', 'glsa_', 'glsa_', '[A-Za-z0-9]{32}_[a-fA-F0-9]{8}'),
  token('tailscale-key', 'tskey-', 'tskey-[a-z]{3,10}-', '[A-Za-z0-9-]{20,100}'),
  token('telegram-token', ':aa', '[0-9]{8,10}:AA', '[A-Za-z0-9_-]{33}'),
  token('age-key', 'age-secret-key-1', 'AGE-SECRET-KEY-1', '[A-Z0-9]{58}'),
  // What git mesh invite prints: whoever reads it can join with it.
  token('invite-code', '.eyj', String.raw`mesh[0-9]{1,9}\.`, 'eyJ[A-Za-z0-9_-]{40,8000}'),
  token('jwt', 'eyj', String.raw`eyJ[\w-]{8,1000}\.`, String.raw`eyJ[\w-]{8,8000}\.[\w-]{16,1500}`),
  anywhere(
    'private-key',
    'private',
    String.raw`-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,120}?(?<body>[A-Za-z0-9+/]{40})`,
  ),
  anywhere(
    'private-key',
    'putty-user-key-file-',
    String.raw`PuTTY-User-Key-File-[0-9]: [\s\S]{0,1000}?Private-Lines: (?<body>[0-9]{1,4})`,
  ),
  anywhere(
    'azure-storage-key',
    'accountkey sharedaccesskey account_key',
    String.raw`(?:AccountKey|SharedAccessKey|account_?key)["'\\]{0,2}\s{0,3}[:=]\s{0,3}["'\\]{0,2}(?<body>[A-Za-z0-9+/]{43,86}={1,2})`,
    'i',
  ),
  anywhere('azure-signature', 'sig=', String.raw`[?&;]sig=(?<body>[A-Za-z0-9+/%]{43,80})`),
  token('azure-client-secret', 'q~', '[A-Za-z0-9_~.]{3}[0-9]Q~', '[A-Za-z0-9_~.-]{31,34}'),
  anywhere(
    'authorization-header',
    'authorization',
    String.raw`authorization["'\\]{0,2}\s{0,3}[:=]\s{0,3}["'\\]{0,2}(?:bearer|basic|token)\s{1,3}(?<body>[A-Za-z0-9._~+/=-]{16,400})`,
    'i',
  ),
  anywhere(
    'url-password',
    '://',
    String.raw`(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://[^\s:@/?#"'<>]{0,100}:(?<body>[^\s@/?#"'<>]{1,200})@[A-Za-z0-9[]`,
    'i',
  ),
];
