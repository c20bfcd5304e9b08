import { ActionIcon, Button, CopyButton, Group, Tooltip } from '@mantine/core';
import { IconBracketsContain, IconCheck, IconCopy } from '@tabler/icons-react';

/** An icon that copies. `what` says what, to whoever cannot see it. */
function Copy({ value, what }: { value: string; what: string }) {
  return (
    <CopyButton value={value} timeout={1500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : `Copy ${what}`}>
          <ActionIcon
            variant="subtle"
            color={copied ? 'green' : 'gray'}
            size="sm"
            onClick={copy}
            aria-label={`Copy ${what}`}
          >
            {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

/** Both forms of a value: safe to paste into a message, and as a tool wants it. */
export function CopyForms({ value, defanged }: { value: string; defanged: string }) {
  if (value === defanged) return <Copy value={value} what="the value" />;
  return (
    <Group gap={0} wrap="nowrap">
      <CopyButton value={defanged} timeout={1500}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : 'Copy defanged'}>
            <ActionIcon
              variant="subtle"
              color={copied ? 'green' : 'gray'}
              size="sm"
              onClick={copy}
              aria-label="Copy defanged"
            >
              {copied ? <IconCheck size={14} /> : <IconBracketsContain size={14} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
      <Copy value={value} what="as it is" />
    </Group>
  );
}

export function CopyText({ value, children }: { value: string; children: string }) {
  return (
    <CopyButton value={value} timeout={1500}>
      {({ copied, copy }) => (
        <Button
          variant="default"
          size="xs"
          onClick={copy}
          leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
        >
          {copied ? 'Copied' : children}
        </Button>
      )}
    </CopyButton>
  );
}
