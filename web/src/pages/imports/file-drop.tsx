import IconUpload from 'icon:upload';
import { Button, FileButton, Group, Paper, Text } from '@mantine/core';
import { type DragEvent, useRef, useState } from 'react';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { formatBytes } from '../../parts/format.ts';

/** A file picker that also accepts a dropped file. */
export function FileDrop({ file, onFile }: { file: File | null; onFile(file: File | null): void }) {
  const [isDragging, setDragging] = useState(false);
  const reset = useRef<() => void>(null);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setDragging(false);
    onFile(event.dataTransfer.files[0] ?? null);
  };
  return (
    <Paper
      withBorder
      p="lg"
      bg={isDragging ? 'var(--mantine-primary-color-light)' : undefined}
      style={{ borderStyle: 'dashed' }}
      onDragOver={(event: DragEvent) => {
        event.preventDefault();
        setDragging(true);
      }}
      onDragLeave={() => setDragging(false)}
      onDrop={drop}
    >
      <Group justify="center">
        <IconUpload size={20} aria-hidden />
        <Text size="sm">
          {file ? `${visibleText(file.name)}, ${formatBytes(file.size)}` : 'Drop a file here, or'}
        </Text>
        <FileButton resetRef={reset} onChange={onFile} inputProps={{ 'aria-label': 'File' }}>
          {(props) => (
            <Button
              {...props}
              // Without the reset, choosing the same file again triggers no change event.
              onClick={() => {
                reset.current?.();
                props.onClick();
              }}
              variant="default"
              size="xs"
            >
              {file ? 'Choose another' : 'Choose a file'}
            </Button>
          )}
        </FileButton>
      </Group>
    </Paper>
  );
}
