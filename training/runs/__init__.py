"""What a training leaves behind: its folder, its progress, its plots."""
