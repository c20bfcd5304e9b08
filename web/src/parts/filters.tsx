import { Button, CloseButton, Group, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';

interface FilterBarProps {
  /** What `/` leads to. */
  search: ReactNode;
  /** Some of the others say something. */
  inUse: boolean;
  children: ReactNode;
}

/** On narrow screens all but the search are folded away. */
export function FilterBar({ search, inUse, children }: FilterBarProps) {
  const [open, { toggle }] = useDisclosure(inUse);
  return (
    <Group gap="xs" align="flex-end" role="search">
      {search}
      <Button hiddenFrom="sm" variant="default" onClick={toggle} aria-expanded={open}>
        Filters
      </Button>
      <Group gap="xs" align="flex-end" {...(!open && { visibleFrom: 'sm' })}>
        {children}
      </Group>
    </Group>
  );
}

interface TextProps {
  label: string;
  placeholder: string;
  value: string;
  onChange(value: string): void;
}

const PAUSE_MS = 250;

/** A text that filters a moment after its last letter. */
export function FilterText({
  label,
  placeholder,
  value,
  onChange,
  ...others
}: TextProps & Record<string, unknown>) {
  const [text, setText] = useState(value);
  /** What went from here and has not come back yet: it is older than what is being typed. */
  const sent = useRef<string[]>([]);
  const send = (filter: string) => {
    sent.current.push(filter);
    onChange(filter);
  };
  const later = useDebouncedCallback(send, PAUSE_MS);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the value alone resets the text.
  useEffect(() => {
    const place = sent.current.indexOf(value);
    sent.current = place < 0 ? [] : sent.current.slice(place + 1);
    if (place >= 0) return;
    later.cancel();
    setText(value);
  }, [value]);
  const clear = () => {
    later.cancel();
    setText('');
    send('');
  };
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        later(event.currentTarget.value);
      }}
      rightSection={
        text ? <CloseButton size="sm" onClick={clear} aria-label={`Clear ${label.toLowerCase()}`} /> : null
      }
      autoComplete="off"
      spellCheck={false}
      {...others}
    />
  );
}

/** The one that `/` leads to. */
export function SearchBox(props: TextProps) {
  return <FilterText {...props} data-page-search leftSection={<IconSearch size={16} />} flex="1 1 220px" />;
}
